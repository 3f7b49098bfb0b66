(()=>{function u(r){let t="";for(let e=0;e<1;e++)t=new Intl.NumberFormat("de",{style:"currency",currency:"EUR"}).format(r/100);return t}var n=r=>r;function c(r,{key:t,other:e=5}){return r.map(o=>({key:t,e:o,o:e,v:o[t]??m(o)}))}function m(r){return n(r)+`a ${r} b`}document.body.onclick=()=>{document.title=u(3)+c([1,2],{key:"x"}).length+n(3)};})();
//# sourceMappingURL=before.js.map
