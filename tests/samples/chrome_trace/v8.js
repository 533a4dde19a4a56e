function leaf(n){let s=0;for(let i=0;i<n;i++){s+=Math.sqrt(i)*Math.sin(i);}return s;}
function mid(n){let s=0;for(let i=0;i<20;i++){s+=leaf(n);}return s;}
function rec(n){return n<=0?mid(2000):rec(n-1)+leaf(500);}
const end=Date.now()+400;let t=0;
while(Date.now()<end){t+=mid(3000)+rec(5);}
console.log(t);
